"""The kitchen: understand, gather, fuse, expand, diversify, pack - one pass from a question to its evidence."""
