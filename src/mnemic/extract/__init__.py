"""What rules alone find in a text: names, standing instructions, what somebody says about themselves."""
