/** Characters that no character after them changes, and of which no letter has several. */
const PLAIN = /^[!-~](?=[ -~]|$)/

/** The first letter of a name, as the pages show it in a tile. */
export function initial(name: string): string {
  const [plain] = PLAIN.exec(name.trim()) ?? []
  // The first segmenter of a process takes 18 ms of each start.
  if (plain !== undefined) return plain.toLocaleUpperCase('en')
  const [first] = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(name.trim())
  return (first?.segment ?? '').toLocaleUpperCase('en')
}
