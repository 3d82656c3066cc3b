"""The tool shed, public: contract suites, generators and faults, for our tests and for yours."""
