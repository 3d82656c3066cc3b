"""What a local engine keeps of prompts, measured: first words, talks, damage, power cuts, erasure; controls beside."""
