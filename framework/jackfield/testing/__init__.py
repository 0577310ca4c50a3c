"""For tests of your own plugin: ``fakes`` stand in for models, engines and tools; ``contracts`` checks a component in one line."""
