"""The platform with the weights of a real model, served by llama.cpp on this machine."""
