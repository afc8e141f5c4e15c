package evolvetest

// Loose returns steps as users write them, and how each is written right. `accordion ep check` and `accordion advise` accept the loose
// forms. sbatch and oarsub refuse them and name the right ones.
func Loose() map[string]string {
	return map[string]string{
		"8X1h": "8x1h", "2 x 20m": "2x20m", "2x20min": "2x20m", "5x1.5h": "5x1h30m", "2 X 1.5h": "2x1h30m", "4*1h": "4x1h", "4×20min": "4x20m",
		"3x 1 H 30 M": "3x1h30m", "2x2 hours": "2x2h", "2x0.25d": "2x6h", "1x.5m": "1x30s", "10x1.25 hrs": "10x1h15m", "2xx1h": "2x1h", "1x90 secs": "1x1m30s",
	}
}
