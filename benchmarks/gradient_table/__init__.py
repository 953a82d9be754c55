"""Derivatives of whole rollouts with contact, three ways: forward mode, reverse mode and differences.

make gradients
"""
