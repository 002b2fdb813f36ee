import type { FamilyName, Sample, SECONDS, SIZES } from './families.ts'

/** A number that only increases. */
export interface Counter {
  value: number
}

/** How many values were in each range. */
export interface Histogram {
  readonly bounds: readonly number[]
  readonly buckets: number[]
  sum: number
}

/** A family has at most this many series. Further ones are counted together, so that a bug in labels cannot exhaust the memory. */
const SERIES_LIMIT = 2000
const REST = 'other'

export function newHistogram(bounds: typeof SECONDS | typeof SIZES): Histogram {
  return { bounds, buckets: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
}

export function observe(histogram: Histogram, value: number): void {
  const { bounds, buckets } = histogram
  let place = 0
  while (place < bounds.length && value > (bounds[place] as number)) place += 1
  buckets[place] = (buckets[place] as number) + 1
  histogram.sum += value
}

/** One counter or histogram for each combination of labels, created at its first use. */
export interface Series<Thing> {
  readonly at: (...labels: readonly string[]) => Thing
  readonly entries: () => readonly (readonly [labels: readonly string[], thing: Thing])[]
}

/**
 * A tree of maps with one level for each label. Looking up a series concatenates no strings, which would cost more than the
 * counting itself. `depth` is the number of labels.
 */
export function openSeries<Thing>(depth: number, make: () => Thing): Series<Thing> {
  const root = new Map<string, unknown>()
  const known: (readonly [readonly string[], Thing])[] = []

  function grow(labels: readonly string[]): Thing {
    const kept = known.length < SERIES_LIMIT ? labels : labels.map(() => REST)
    const last = kept[depth - 1] as string
    let level = root
    for (const label of kept.slice(0, -1)) {
      const next = (level.get(label) ?? new Map<string, unknown>()) as Map<string, unknown>
      level.set(label, next)
      level = next
    }
    const there = level.get(last) as Thing | undefined
    if (there !== undefined) return there
    const thing = make()
    level.set(last, thing)
    known.push([kept, thing])
    return thing
  }

  return {
    at(...labels) {
      let level: unknown = root
      for (const label of labels) {
        level = (level as Map<string, unknown>).get(label)
        if (level === undefined) return grow(labels)
      }
      return level as Thing
    },
    entries: () => known,
  }
}

export function counterSamples(name: FamilyName, series: Series<Counter>): readonly Sample[] {
  return series.entries().map(([labels, { value }]) => ({ name, labels, value }))
}

export function histogramSamples(name: FamilyName, series: Series<Histogram>): readonly Sample[] {
  return series.entries().map(([labels, { buckets, sum }]) => ({ name, labels, buckets: [...buckets], sum }))
}

export function histogramSample(name: FamilyName, { buckets, sum }: Histogram): Sample {
  return { name, labels: [], buckets: [...buckets], sum }
}
