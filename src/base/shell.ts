/** Quotes a text for a POSIX shell: the text of another must not become a command when the operator copies a command that names it. */
export function forShell(text: string): string {
  return /^[\w:/.%+=,@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
