import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { createAdminCredential } from '../../src/admin/admin.ts'
import { FAMILIES, type Family } from '../../src/metrics/families.ts'
import { readConfig } from '../../src/config/config.ts'
import { registerClient } from '../../tools/flow.ts'
import { openTestServer } from '../support/server.ts'
import { countRows, scrape, type Scraped } from '../support/scraped.ts'

interface Target {
  readonly expr: string
  readonly datasource: { readonly uid: string }
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly Target[]
}

interface Dashboard {
  readonly uid: string
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: unknown }[]
  }
}

const dashboard = JSON.parse(readFileSync('deploy/grafana/grantor.json', 'utf8')) as Dashboard
const rules = readFileSync('deploy/prometheus/grantor-rules.yml', 'utf8')

/** What Prometheus, its service discovery and our own workers add. */
const ADDED_LABELS = ['le', 'job', 'instance', 'worker']

/** Metrics of Prometheus and of its blackbox exporter. */
const OF_OTHERS = /\b(up|probe_ssl_earliest_cert_expiry)\{/

/** Every expression of the dashboard and of the alerts. */
function listExpressions(): readonly string[] {
  const alerts = [...rules.matchAll(/^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.+)\n)/gm)]
  assert.equal(alerts.length, rules.split('- alert:').length - 1)
  const panels = dashboard.panels.flatMap(({ targets = [] }) => targets)
  assert.ok(panels.length > 30)
  return [...panels.map(({ expr }) => expr), ...alerts.map(([, block, line]) => block ?? line ?? '')]
}

/** Matches the name of a metric and the text in braces after it. */
function selectorsOf(expression: string): readonly { readonly name: string; readonly matchers: string }[] {
  return [...expression.matchAll(/\b((?:grantor|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', matchers = '']) => ({ name, matchers }),
  )
}

function familyOf(name: string): Family | undefined {
  const families: Readonly<Record<string, Family>> = FAMILIES
  return families[name] ?? families[name.replace(/_(bucket|sum|count)$/, '')]
}

async function aScrape(t: TestContext): Promise<Scraped> {
  const server = await openTestServer(t)
  await registerClient(server)
  const input = { name: 'Prometheus', access: 'read', organizationId: undefined, days: 30 } as const
  await createAdminCredential(server.context, input)
  await server.context.store.replaceSetting({ name: 'last-backup', value: String(server.clock.now()) })
  await countRows(server)
  return scrape(server)
}

test('every metric of the dashboard and the alerts is in a scrape', async (t) => {
  const { samples } = await aScrape(t)
  const scraped = new Set(samples.map(({ name }) => name))
  for (const expression of listExpressions()) {
    const selectors = selectorsOf(expression)
    assert.ok(selectors.length > 0 || OF_OTHERS.test(expression), expression)
    for (const { name } of selectors) assert.ok(scraped.has(name), `${name} in ${expression}`)
  }
})

test('each alert has a section of the manual that says what to do, which its runbook names, and each section an alert', () => {
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '')
  const manual = readFileSync('docs/monitoring.md', 'utf8').split('\n## Alerts\n')[1] ?? ''
  const sections = [...manual.matchAll(/^### (\w+)\n\n\S/gm)].map(([, name]) => name ?? '')
  assert.deepEqual(sections.toSorted(), names.toSorted())
  const runbooks = [...rules.matchAll(/^ {10}runbook: '(.+)'$/gm)].map(([, runbook]) => runbook)
  assert.deepEqual(
    runbooks,
    names.map((name) => `docs/monitoring.md#${name.toLowerCase()}`),
  )
})

test('the probe that the alert about the certificate needs has the job that the alert names', () => {
  const [, job = 'none'] = /probe_ssl_earliest_cert_expiry\{job="([\w-]+)"\}/.exec(rules) ?? []
  const probe = readFileSync('deploy/prometheus/grantor-issuer.yml', 'utf8')
  assert.ok(probe.includes(`  - job_name: ${job}\n`))
})

test('every label that an alert or the dashboard uses belongs to its metric', () => {
  for (const expression of listExpressions()) {
    const known = new Set(ADDED_LABELS)
    for (const { name, matchers } of selectorsOf(expression)) {
      const labels = familyOf(name)?.labels ?? []
      for (const label of labels) known.add(label)
      for (const [, label = ''] of matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g))
        assert.ok([...ADDED_LABELS, ...labels].includes(label), `${label} of ${name} in ${expression}`)
    }
    for (const [, by = ''] of expression.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of by.split(/,\s*/)) assert.ok(known.has(label), `${label} in ${expression}`)
  }
})

test('a series with an alert starts at zero, so that its first increase is seen', async (t) => {
  const { value } = await aScrape(t)
  const watched = selectorsOf(rules).filter(({ name }) => name === 'grantor_store_operations_total')
  assert.equal(watched.length, 3)
  for (const { name, matchers } of watched) {
    const labels = Object.fromEntries(
      [...matchers.matchAll(/([a-z]+)="(\w+)"/g)].map(([, label, text]) => [label, text]),
    )
    assert.equal(Object.keys(labels).length, 2)
    assert.equal(value(name, labels as Record<string, string>), 0)
  }
})

test('the dashboard uses the chosen Prometheus, and no panel overlaps another', () => {
  const variables = new Map(dashboard.templating.list.map(({ name, type, query }) => [name, { type, query }]))
  assert.deepEqual(variables.get('datasource'), { type: 'datasource', query: 'prometheus' })
  const text = JSON.stringify(dashboard)
  for (const [, name = ''] of text.matchAll(/\$\{?([a-z]\w*)/g)) assert.ok(variables.has(name), `$${name}`)
  const taken = new Map<string, string>()
  for (const { id, title, targets = [], gridPos } of dashboard.panels) {
    for (const { datasource } of targets) assert.equal(datasource.uid, '${datasource}', title)
    assert.equal(dashboard.panels.filter((panel) => panel.id === id).length, 1, title)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.ok(x < 24 && !taken.has(`${x},${y}`), `${title} lies on ${taken.get(`${x},${y}`) ?? 'the edge'}`)
        taken.set(`${x},${y}`, title)
      }
    }
  }
})

test('the example scrapes the default port of the administration', () => {
  const { admin } = readConfig({})
  const [, target] = /targets: \['([^']+)'\]/.exec(readFileSync('deploy/prometheus/prometheus.yml', 'utf8')) ?? []
  assert.equal(target, `127.0.0.1:${admin?.port}`)
})

test('the example for nodes on other machines sends its token over TLS only, to what the proxy of a node forwards', () => {
  const example = readFileSync('deploy/prometheus/prometheus-nodes.yml', 'utf8')
  const recipe = readFileSync('deploy/nginx/grantor-metrics.conf', 'utf8')
  assert.match(example, /^ {4}scheme: https\n {4}tls_config:\n {6}ca_file: /m)
  assert.match(example, /^ {4}authorization:\n {6}credentials_file: /m)
  assert.match(readFileSync('docs/monitoring.md', 'utf8'), /\]\(\.\.\/deploy\/prometheus\/prometheus-nodes\.yml\)/)
  const [, address = 'none'] = /listen (\S+) ssl;/.exec(recipe) ?? []
  assert.match(example, new RegExp(`targets: \\['${address}'`))
  assert.match(recipe, new RegExp(`proxy_pass http://127\\.0\\.0\\.1:${readConfig({}).admin?.port};`))
  const locations = [...recipe.matchAll(/location (.+) \{/g)].map(([, path]) => path)
  assert.deepEqual(locations, ['= /metrics', '/'])
  assert.match(recipe, /location \/ \{\n {4}return 404;/)
})
