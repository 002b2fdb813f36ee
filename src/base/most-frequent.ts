/** The name of what is not named. */
export const OTHER = 'other'

/** The largest numbers by name, at most `count`, and the sum of the others as `other`. */
export function mostFrequent(
  numbers: Iterable<readonly [name: string, value: number]>,
  count: number,
): readonly (readonly [name: string, value: number])[] {
  const all = [...numbers]
  const named = all.filter(([name]) => name !== OTHER).toSorted(([, left], [, right]) => right - left)
  const kept = named.slice(0, count)
  const other = [...named.slice(count), ...all.filter(([name]) => name === OTHER)]
  return other.length === 0 ? kept : [...kept, [OTHER, other.reduce((sum, [, value]) => sum + value, 0)]]
}
