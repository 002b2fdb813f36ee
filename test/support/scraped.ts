import assert from 'node:assert/strict'
import { countDue } from '../../src/server/background/row-counter.ts'
import type { TestServer } from './server.ts'

/** A scrape as a reader of Prometheus' text format understands it. */
export interface Scraped {
  readonly text: string
  /** By name, as HELP and TYPE say. */
  readonly families: ReadonlyMap<string, { readonly type: string; readonly help: string }>
  readonly samples: readonly ScrapedSample[]
  /** Returns the value of the sample with this name and these labels. Fails the test unless there is exactly one. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number
}

export interface ScrapedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const SAMPLE = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-z_]+)="((?:\\.|[^"\\])*)"(?:,|$)/g

/** Fails the test when a line is malformed, or a sample is outside of its family. */
export function parseScrape(text: string): Scraped {
  assert.ok(text.endsWith('\n'))
  const families = new Map<string, { type: string; help: string }>()
  const samples: ScrapedSample[] = []
  let last = { name: '', help: '' }
  for (const line of text.trimEnd().split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (kind === 'HELP') {
      assert.ok(!families.has(name), `${name} is there twice`)
      last = { name, help: rest }
    } else if (kind === 'TYPE') {
      assert.equal(name, last.name)
      families.set(name, { type: rest, help: last.help })
    } else samples.push(parseSample(line, last.name))
  }
  const value: Scraped['value'] = (name, labels = {}) => {
    const found = samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, wanted]) => sample.labels[label] === wanted),
    )
    assert.equal(found.length, 1, `${name}${JSON.stringify(labels)} is there ${found.length} times`)
    return found[0]?.value ?? Number.NaN
  }
  return { text, families, samples, value }
}

function parseSample(line: string, family: string): ScrapedSample {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? []
  assert.notEqual(name, '', `not understood: ${line}`)
  assert.equal(name.replace(/_(bucket|sum|count)$/, ''), family.replace(/_(bucket|sum|count)$/, ''), line)
  assert.ok(Number.isFinite(Number(value)), line)
  const pairs = [...labels.matchAll(LABEL)]
  assert.equal(pairs.map(([pair]) => pair).join(''), labels, `labels not understood: ${line}`)
  return { name, labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text])), value: Number(value) }
}

/** What Prometheus would read now. */
export async function scrape(server: Pick<TestServer, 'injectAdmin'>): Promise<Scraped> {
  const response = await server.injectAdmin({ method: 'GET', url: '/metrics' })
  assert.equal(response.statusCode, 200, response.body)
  assert.equal(response.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  return parseScrape(response.body)
}

/** Names and labels, without the numbers. */
export function seriesOf({ samples }: Scraped): readonly string[] {
  return samples.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`).toSorted()
}

/** Counts the rows whose number a scrape has, as the node does that holds the lease. */
export function countRows({ context }: Pick<TestServer, 'context'>): Promise<void> {
  return countDue({ ...context, monotonic: () => 0, pause: async () => undefined }, () => true)
}
