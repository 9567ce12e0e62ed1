/**
 * Characters that a terminal acts upon or that hide what a line says: C0 and C1 controls, DEL, line and paragraph separators, zero-width and
 * direction marks, byte order mark, and unpaired surrogates.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Text from elsewhere, safe for a terminal: every such character as its escape. A host name that a client sent is hostile input. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeCharacter);
}

/** The same for JSON and quoted YAML text, where the line breaks are our own. */
export function printableDocument(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (character === "\n" ? character : escapeCharacter(character)));
}

export function isPrintable(text: string): boolean {
  return text.search(UNPRINTABLE) < 0;
}

function escapeCharacter(character: string): string {
  let escaped = "";
  for (let i = 0; i < character.length; i++) escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
  return escaped;
}
