"""Files, temporary folders, progress and facts about the platform."""
