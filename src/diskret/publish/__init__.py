"""Whatever leaves the office: written, guarded, verified, remembered."""
