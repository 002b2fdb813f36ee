/** Parsers for values of the command line. Each throws an error that describes an invalid value. */

export function readWhole(name: string, text: string, min: number, max: number): number {
  const value = readBetween(name, text, min, max)
  if (!Number.isInteger(value)) throw new Error(`--${name} takes a whole number.`)
  return value
}

export function readBetween(name: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= min && value <= max) return value
  throw new Error(`--${name} takes a number from ${min} to ${max}.`)
}

export function readStore(text: string): 'sqlite' | 'postgres' {
  if (text === 'sqlite' || text === 'postgres') return text
  throw new Error('--store takes sqlite or postgres.')
}

/** The name of a file in bench/results. */
export function readSaveName(text: string | undefined): string | undefined {
  if (text === undefined || /^[a-z0-9-]+$/.test(text)) return text
  throw new Error('--save takes a-z, 0-9 and -.')
}

/** Parses names of a list, and returns them in the order of the list. */
export function readNames<Name extends string>(option: string, known: readonly Name[], text: string): readonly Name[] {
  const names = text === '' ? [] : text.split(',')
  const found = known.filter((name) => names.includes(name))
  if (found.length === names.length) return found
  throw new Error(`--${option} takes names of: ${known.join(', ')}.`)
}
