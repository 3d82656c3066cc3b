"""Readers of data sets in the form they were published in, a file for each; they make the values of `datasets`."""
