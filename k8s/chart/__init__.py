"""The Helm chart, written from the same manifests as the overlays."""
