/** A credential or id of the same length whose last character is another one. */
export function alterLast(text: string): string {
  return text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A')
}
