package oar

// RuleTexts are the admission rules of a queue in the order of their priorities, for tests that give them to a Perl.
func RuleTexts(queue string) (texts []string) {
	for _, r := range rules(queue) {
		texts = append(texts, r.text)
	}
	return texts
}

// The editing of oar.conf.
var (
	SettingIn      = settingIn
	WithSetting    = withSetting
	WithoutSetting = withoutSetting
	Rewrite        = rewrite
)
