"""The inside of `models_prm.train`: what is trained on, losses, stages, checkpoints, several processes."""
