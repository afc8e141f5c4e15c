package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"accordion/core"
)

// Guide sets up every command below `root`. For a wrong word, each command then suggests the nearest correct one and
// exits with status 2. Each command also checks its output files before it starts to work. Guide is called once, when
// the tree of commands is complete.
func Guide(root *cobra.Command) {
	root.SetFlagErrorFunc(wrongFlag)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	layOut(root)
	each(root, func(c *cobra.Command) {
		if c.PreRunE == nil {
			c.PreRunE = checkOutputs
		}
		if !c.HasAvailableSubCommands() || c.Args != nil && c.Runnable() {
			return
		}
		c.Args = wrongSubcommand
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations["group"] = "it does nothing without a subcommand"
		if c.Run == nil && c.RunE == nil {
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	})
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = knownTopic
		}
	}
}

// each calls `do` for a command and all below it.
func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

// wrongSubcommand refuses any argument of a command that has subcommands only.
func wrongSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(fmt.Errorf("%sunknown command %s%s", prefix(cmd), core.Shown(args[0]), suggestion(cmd, args[0])))
}

// prefix returns a command's path for the beginning of a message, such as "ep check: ", and "" for the program itself.
func prefix(cmd *cobra.Command) string {
	if path, below := strings.CutPrefix(cmd.CommandPath(), cmd.Root().Name()+" "); below {
		return path + ": "
	}
	return ""
}

// suggestion returns "; did you mean NAME?" for the nearest subcommand. If none is near, it lists the subcommands, or names the help that
// lists them.
func suggestion(cmd *cobra.Command, word string) string {
	if near := near(cmd, word); near != "" {
		return "; did you mean " + near + "?"
	}
	names := subcommands(cmd)
	if len(names) > 10 {
		return "; see " + cmd.CommandPath() + " --help"
	}
	return "; there are " + strings.Join(names, ", ")
}

// subcommands returns the names of the commands below cmd that are not hidden.
func subcommands(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// near returns the subcommand that a user probably meant, or "". A word of three or four letters may have one wrong letter, a longer word
// two.
func near(cmd *cobra.Command, word string) string {
	for distance := 1; distance <= min(2, (len(word)+1)/2-1); distance++ {
		cmd.SuggestionsMinimumDistance = distance
		if near := cmd.SuggestionsFor(word); len(near) > 0 {
			return near[0]
		}
	}
	for _, name := range subcommands(cmd) {
		if letters(name) == letters(word) {
			return name // two letters are swapped
		}
		if len(word) > 1 && strings.HasPrefix(name, word) || len(name) > 2 && strings.HasPrefix(word, name) {
			return name
		}
	}
	return ""
}

// Nearest returns the name that a user probably meant, or "". It is the name that cobra would suggest if the names were commands.
func Nearest(word string, names []string) string {
	var all cobra.Command
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return near(&all, word)
}

// letters returns the sorted bytes of a word.
func letters(word string) string { return string(slices.Sorted(slices.Values([]byte(word)))) }

// knownTopic returns an error if "accordion help" is called for a command or topic that does not exist.
func knownTopic(cmd *cobra.Command, args []string) error {
	at := cmd.Root()
	for _, word := range args {
		next := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
		if next < 0 {
			return Usage(fmt.Errorf("help: unknown command or topic %s%s", core.Shown(word), suggestion(at, word)))
		}
		at = at.Commands()[next]
	}
	return nil
}

// wrongFlag rewrites an error of pflag for users. If a subcommand before the flag is wrong too, it reports that instead.
func wrongFlag(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(args) > 0 {
		if wrong := cmd.ValidateArgs(args); wrong != nil {
			return wrong
		}
	}
	return Usage(WrongFlag(cmd, err))
}

// WrongFlag rewrites an error of pflag in plain words, with the nearest flag or the expected form of the value.
func WrongFlag(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	at := prefix(cmd)
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		typed, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=")
		return fmt.Errorf("%sunknown flag: -%s%s", at, typed, flagHint(cmd, typed))
	case errors.As(err, &unknown):
		return fmt.Errorf("%sunknown flag: --%s%s", at, unknown.GetSpecifiedName(), flagHint(cmd, unknown.GetSpecifiedName()))
	case errors.As(err, &missing):
		return fmt.Errorf("%s--%s needs a value: %s", at, missing.GetFlag().Name, form(missing.GetFlag()))
	case errors.As(err, &invalid):
		return fmt.Errorf("%s--%s: %s is not %s", at, invalid.GetFlag().Name, core.Shown(invalid.GetValue()), form(invalid.GetFlag()))
	}
	return fmt.Errorf("%s%w; see %s --help", at, err, cmd.CommandPath())
}

// flagHint returns "; did you mean --NAME?" for the flag that is nearest to a name. If none is near, it names the help that lists all
// flags.
func flagHint(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := Nearest(name, names); near != "" {
		return "; did you mean --" + near + "?"
	}
	return "; see " + cmd.CommandPath() + " --help"
}

// form describes the values that a flag accepts, in words for users.
func form(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number, such as 16"
	case "uint64":
		return "a whole number from 0, such as 7"
	case "float64":
		return "a number, such as 0.9"
	case "duration":
		return "a duration, such as 500ms, 2s or 1m30s"
	case "bool":
		return "true or false"
	case "intSlice":
		return "a list of whole numbers, such as 0,50,100"
	}
	_, usage := pflag.UnquoteUsage(f)
	return usage
}

// Hinted adds a suggestion to the error of a command whose argument or flag value was wrong. It suggests the nearest of the words that
// shell completion would offer for that flag or argument.
func Hinted(cmd *cobra.Command, err error) error {
	var coded ExitError
	if cmd == nil || !errors.As(err, &coded) || coded.Status != 2 || coded.Err == nil || strings.Contains(coded.Err.Error(), "did you mean") {
		return err
	}
	hint := ""
	try := func(values, words []string) {
		for _, value := range values {
			if hint == "" && value != "" && !slices.Contains(words, value) && strings.Contains(coded.Err.Error(), core.Shown(value)) {
				hint = Nearest(value, words)
			}
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if complete, known := cmd.GetFlagCompletionFunc(f.Name); known {
			words, _ := complete(cmd, nil, "")
			try(strings.Split(strings.Trim(f.Value.String(), "[]"), ","), words)
		}
	})
	try(cmd.Flags().Args(), cmd.ValidArgs)
	if hint == "" {
		return err
	}
	return Usage(fmt.Errorf("%w; did you mean %s?", coded.Err, hint))
}
