"""The gateway: an OpenAI-compatible endpoint between an application and its model that remembers for both."""
