"""The store on SQLite: connections, group commit, its relations and own statements, erasing to the byte, copies."""
