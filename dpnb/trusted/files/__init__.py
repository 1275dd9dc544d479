"""Files as their owner named them: opened once, read through that opening ever after, their rows written as declared."""
