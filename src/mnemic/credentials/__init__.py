"""Who may do what: access keys, tokens of an identity provider, one-time links and browser sessions, quotas, refusals.

Everything here is below the faces: it knows neither a framework nor a socket, and a server asks it before every verb.
"""
