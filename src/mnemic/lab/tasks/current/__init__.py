"""What holds now: facts that change, asked after amid talk of other things."""
