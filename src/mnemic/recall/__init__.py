"""The kitchen: understand, gather, fuse, diversify, pack - one pass from a question to its evidence."""
