"""The bad rule files here are read by tests, not run as tests."""

collect_ignore_glob = ["*.rules"]
