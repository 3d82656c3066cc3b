"""What models have computed, as files of bytes beside the store: named by their digest, and never unpickled."""
