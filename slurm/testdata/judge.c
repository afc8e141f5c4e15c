/*
 * A stand-in for the SPANK plug-in's callback: reads requests, one a line, as "KIND DIGITS" (0 a profile, 1 moldable
 * configurations; the text in hexadecimal), and prints for each an empty line, or why it is refused.
 */
#include "../spank/request.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c) { return isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10; }

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t got;

	while ((got = getline(&line, &room, stdin)) > 2) {
		const size_t length = (size_t)(got - 3) / 2;
		/* Exactly as long as the text, so that the sanitizer sees a step over either end. */
		char *text = malloc(length + 1), why[REQUEST_WHY];
		if (!text)
			return 1;
		for (size_t i = 0; i < length; i++)
			text[i] = (char)(digit(line[2 + 2 * i]) << 4 | digit(line[3 + 2 * i]));
		text[length] = 0;
		memset(why, 'x', sizeof why);
		puts(request_check(line[0] == '1' ? REQUEST_MOLD : REQUEST_EP, text, why) == 0 ? "" : why);
		free(text);
	}
	free(line);
	return 0;
}
