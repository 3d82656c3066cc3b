"""The dashboard: pages for people, served beside the operations from files of this package, without a build."""
