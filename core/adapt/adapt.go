// Package adapt says how many nodes a moldable job gets.
package adapt
