import { FAMILIES, SECONDS, SIZES, type Family, type FamilyName, type Sample } from './families.ts'

/** The samples of one process. */
export interface Source {
  /** The number of the worker; undefined when the server is one process. */
  readonly worker: string | undefined
  readonly samples: readonly Sample[]
}

/** The media type of the text format of Prometheus. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Returns the samples in the text format of Prometheus, by family, with help and type. A family without samples is left out. */
export function renderMetrics(sources: readonly Source[]): string {
  const names = Object.keys(FAMILIES) as FamilyName[]
  return names
    .map((name) => {
      const lines = sources.flatMap(({ worker, samples }) =>
        samples.filter((sample) => sample.name === name).flatMap((sample) => linesOf(sample, worker)),
      )
      const { help, type } = FAMILIES[name]
      return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
    })
    .join('')
}

function linesOf(sample: Sample, worker: string | undefined): readonly string[] {
  const { name, labels } = sample
  const family: Family = FAMILIES[name]
  const pairs = [
    ...(worker === undefined || family.isShared === true ? [] : [`worker="${worker}"`]),
    ...family.labels.map((label, place) => `${label}="${escaped(labels[place] ?? '')}"`),
  ]
  if (!('buckets' in sample)) return [`${name}${braces(pairs)} ${sample.value}`]
  const bounds = [...(name === 'grantor_store_batch_operations' ? SIZES : SECONDS).map(String), '+Inf']
  let total = 0
  const ranges = bounds.map((bound, place) => {
    total += sample.buckets[place] ?? 0
    return `${name}_bucket${braces([...pairs, `le="${bound}"`])} ${total}`
  })
  return [...ranges, `${name}_sum${braces(pairs)} ${sample.sum}`, `${name}_count${braces(pairs)} ${total}`]
}

function braces(pairs: readonly string[]): string {
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
