"""HybridSim."""
