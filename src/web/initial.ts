/** The first letter of a name, as the pages show it in a tile. */
export function initial(name: string): string {
  const [first] = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(name.trim())
  return (first?.segment ?? '').toLocaleUpperCase('en')
}
