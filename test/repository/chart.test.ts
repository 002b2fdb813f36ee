import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { SECRET_SETTINGS } from '../../src/config/schema.ts'
import { PATHS } from '../../src/endpoints/paths.ts'
import {
  CHART,
  firstLine,
  objectsOf,
  renderedPath,
  SCHEMA_FILE,
  schemaWithSettings,
  VALUE_FILES,
  valuesPath,
  type Members,
  type ValueFile,
} from '../../prove/chart/chart.ts'
import { parseDockerfile, type Step } from '../../prove/container/dockerfile.ts'

/** deploy/helm, without Helm. `npm run prove chart` renders the chart, and decodes the objects into the types of the Kubernetes API. */

interface Pod {
  readonly automountServiceAccountToken: boolean
  readonly enableServiceLinks: boolean
  readonly terminationGracePeriodSeconds?: number
  readonly securityContext: Members
  readonly containers: readonly [Container]
  readonly volumes: readonly Volume[]
}
interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly securityContext: Members
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}
interface Volume {
  readonly name: string
  readonly projected?: {
    readonly defaultMode: number
    readonly sources: readonly { readonly secret: { readonly items: readonly { readonly path: string }[] } }[]
  }
  readonly persistentVolumeClaim?: { readonly claimName: string }
}
interface Rendered {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Members }
  readonly spec: Members
}

const STEPS = parseDockerfile(readFileSync('deploy/container/Dockerfile', 'utf8')).at(-1)?.steps ?? []
const isValid = new Ajv({ allErrors: true, strict: false }).compile(parse(readFileSync(SCHEMA_FILE, 'utf8')) as Members)
const DEFAULTS = parse(readFileSync(`${CHART}/values.yaml`, 'utf8')) as Members
const FILES = new Map(
  VALUE_FILES.map((name) => {
    const overrides = parse(readFileSync(valuesPath(name), 'utf8')) as Members
    const text = readFileSync(renderedPath(name), 'utf8')
    return [
      name,
      { values: merge(DEFAULTS, overrides), text, objects: objectsOf(text) as unknown as readonly Rendered[] },
    ]
  }),
)
const POSTGRES = valuesOf('postgres')
const SETTING_VALUES: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://grantor:password@postgres:5432/grantor',
  GRANTOR_SMTP_URL: 'smtps://grantor:password@mail.acme.test:465',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token',
}

for (const name of VALUE_FILES) {
  test(`${name}.yaml fits the schema of the values, and its rendered file has the digest of the templates`, () => {
    isValid(valuesOf(name))
    assert.deepEqual(isValid.errors, null)
    assert.equal(FILES.get(name)?.text.split('\n', 1)[0], firstLine(name), 'Run: npm run prove chart -- --write')
  })

  test(`the pods of ${name}.yaml have the user, the volume and the port of the image, and settings that the server accepts`, () => {
    const pods = podsOf(name)
    assert.equal(pods.length, name === 'gateway' || name === 'everything' ? 2 : 1)
    for (const pod of pods) {
      const [{ env, securityContext, volumeMounts }] = pod.containers
      const { runAsUser, runAsGroup, runAsNonRoot, seccompProfile } = pod.securityContext
      assert.deepEqual([`${String(runAsUser)}:${String(runAsGroup)}`], stepsOf('user'))
      assert.deepEqual([runAsNonRoot, seccompProfile], [true, { type: 'RuntimeDefault' }])
      assert.deepEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      // The variables of a Service would be settings that do not exist.
      assert.deepEqual([pod.automountServiceAccountToken, pod.enableServiceLinks], [false, false])
      const volumes = pod.volumes.map((volume) => volume.name)
      assert.deepEqual(volumeMounts.map((mount) => mount.name).toSorted(), volumes.toSorted())
      const config = readConfig({ GRANTOR_HOST: '0.0.0.0', ...settingsOf(pod, env) })
      assert.equal(config.issuer, valuesOf(name)['issuer'])
      assert.equal(config.admin?.port, 3001)
    }
    const [server] = pods
    const [{ ports = [], volumeMounts, args }] = server?.containers ?? assert.fail()
    assert.deepEqual([String(ports[0]?.containerPort)], stepsOf('expose'))
    assert.deepEqual(
      volumeMounts.filter(({ name: volume }) => volume === 'data').map(({ mountPath }) => mountPath),
      stepsOf('volume'),
    )
    const command = STEPS.flatMap((step) => (step.kind === 'cmd' ? [step.words] : []))
    assert.deepEqual([args], command)
  })

  test(`the probes of ${name}.yaml ask for the health of the server, and its end is later than that of a draining node`, () => {
    const [pod] = podsOf(name)
    const [{ startupProbe, livenessProbe, readinessProbe }] = pod?.containers ?? assert.fail()
    const asked = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet)
    assert.deepEqual(
      asked,
      [PATHS.alive, PATHS.alive, PATHS.ready].map((path) => ({ path, port: 'http' })),
    )
    const preStop = Number(valuesOf(name)['preStopSeconds'])
    assert.equal(pod?.terminationGracePeriodSeconds, 15 + preStop)
  })

  test(`the Services of ${name}.yaml lead to pods of the server alone, and only one of them leads to the administration`, () => {
    const objects = renderedOf(name)
    const services = objects.filter(({ kind }) => kind === 'Service')
    const { enabled } = valuesOf(name)['admin'] as { readonly enabled: boolean }
    const targets = services.flatMap(({ spec }) =>
      (spec['ports'] as readonly { readonly targetPort: string }[]).map(({ targetPort }) => targetPort),
    )
    assert.deepEqual(new Set(targets), new Set(enabled ? ['admin', 'http'] : ['http']))
    assert.equal(targets.length, enabled ? 2 : 1)
    for (const { spec } of services)
      assert.equal((spec['selector'] as Members)['app.kubernetes.io/component'], 'server')
    const way = objects.find(({ kind }) => kind === 'Ingress' || kind === 'HTTPRoute') ?? assert.fail()
    assert.doesNotMatch(JSON.stringify(way.spec), /admin|3001/)
    // An address of the other family would not reach the administration where the public port is reached.
    const { GRANTOR_HOST: host = imageHost(), GRANTOR_ADMIN_HOST: adminHost } = envOf(podsOf(name)[0] ?? assert.fail())
    assert.equal(host, name === 'everything' ? '::' : '0.0.0.0')
    assert.equal(adminHost, enabled ? host : undefined)
  })
}

test('on SQLite one pod at a time has the volume, and the database is in a folder that its user made', () => {
  const deployment = renderedOf('sqlite').find(({ kind }) => kind === 'Deployment')
  assert.deepEqual([deployment?.spec['replicas'], deployment?.spec['strategy']], [1, { type: 'Recreate' }])
  const [pod] = podsOf('sqlite')
  // The group may write to the root of the volume, and the server refuses to keep a database there.
  assert.equal(envOf(pod ?? assert.fail())['DATABASE_URL'], 'sqlite:/data/store/grantor.db')
  assert.equal(pod?.securityContext['fsGroupChangePolicy'], 'OnRootMismatch')
  const claim = renderedOf('sqlite').find(({ kind }) => kind === 'PersistentVolumeClaim')
  assert.equal(pod?.volumes[0]?.persistentVolumeClaim?.claimName, claim?.metadata.name)
})

test('the schema of the values has the settings of the table that the chart does not make itself', () => {
  assert.equal(readFileSync(SCHEMA_FILE, 'utf8'), schemaWithSettings(), 'Run: npm run docs')
})

const REFUSED: Readonly<Record<string, Members>> = {
  'an unknown value': { replica: 3 },
  'an unknown value of a part': { image: { name: 'grantor' } },
  'an unknown setting': { settings: { GRANTOR_NAMES: 'Acme' } },
  'a setting that the chart makes': { settings: { GRANTOR_SECRET: 's'.repeat(43) } },
  'a setting that is a number, which Helm writes as 2.592e+06': { settings: { GRANTOR_KEY_ROTATION: 2_592_000 } },
  'no issuer': { issuer: '' },
  'an issuer without TLS': { issuer: 'http://auth.example.com' },
  'no image': { image: { repository: '' } },
  'an image without a tag and digest': { image: { tag: '' } },
  'no root secret': { secrets: { root: { name: '' } } },
  'PostgreSQL without an address': { secrets: { databaseUrl: { name: '' } } },
  'SQLite with the address of another database': { sqlite: { enabled: true } },
  'a file to apply beside SQLite, whose volume another pod cannot have': {
    sqlite: { enabled: true },
    secrets: { databaseUrl: { name: '' } },
    config: 'version: 1',
  },
  'an Ingress without its networks': { trustProxy: [] },
  'an Ingress and an HTTPRoute': { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } },
  'an HTTPRoute without a Gateway': { ingress: { enabled: false }, httpRoute: { enabled: true } },
  'a console without the port': { admin: { consoleUrl: 'https://console.example.com' } },
  'a console without TLS': { admin: { enabled: true, consoleUrl: 'http://console.example.com' } },
  'a ServiceMonitor without the port': { serviceMonitor: { enabled: true, token: { name: 'metrics' } } },
  'a ServiceMonitor without a token': { admin: { enabled: true }, serviceMonitor: { enabled: true } },
}
for (const [what, overrides] of Object.entries(REFUSED))
  test(`the schema of the values refuses ${what}`, () => {
    assert.ok(isValid(POSTGRES))
    assert.ok(!isValid(merge(POSTGRES, overrides)))
  })

/** What Helm gives to the templates: the values of a file over those of the chart. */
function valuesOf(name: ValueFile): Members {
  return FILES.get(name)?.values ?? assert.fail()
}

/** Mappings are merged; anything else is replaced. */
function merge(one: Members, other: Members): Members {
  const merged = Object.entries(other).map(([name, value]) => {
    const before = one[name]
    return [name, isMapping(before) && isMapping(value) ? merge(before, value) : value] as const
  })
  return { ...one, ...Object.fromEntries(merged) }
}

function isMapping(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function renderedOf(name: ValueFile): readonly Rendered[] {
  return FILES.get(name)?.objects ?? assert.fail()
}

/** The pods of the server, and of the Job if there is one. */
function podsOf(name: ValueFile): readonly Pod[] {
  return ['Deployment', 'Job'].flatMap((kind) =>
    renderedOf(name)
      .filter((object) => object.kind === kind)
      .map(({ spec }) => (spec['template'] as { readonly spec: Pod }).spec),
  )
}

function envOf({ containers: [{ env }] }: Pod): Readonly<Record<string, string>> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]))
}

/** The settings of a pod, with secrets in place of the files that name them. Each file is one that the volume has. */
function settingsOf({ volumes }: Pod, env: Container['env']): Readonly<Record<string, string>> {
  const { projected } = volumes.find(({ name }) => name === 'secrets') ?? assert.fail()
  assert.equal(projected?.defaultMode, 0o440)
  const files = projected.sources.flatMap(({ secret }) => secret.items.map(({ path }) => path))
  const settings = env.map(({ name, value }) => {
    const secret = SECRET_SETTINGS.find((one) => name === `${one}_FILE`)
    if (secret === undefined) return [name, value]
    assert.ok(files.includes(value.replace('/run/secrets/grantor/', '')), value)
    return [secret, SETTING_VALUES[secret] ?? secret.padEnd(43, 's')]
  })
  assert.equal(env.filter(({ name }) => name.endsWith('_FILE')).length, files.length)
  return Object.fromEntries(settings) as Readonly<Record<string, string>>
}

function stepsOf(kind: 'user' | 'volume' | 'expose'): readonly string[] {
  return STEPS.flatMap((step: Step) => (step.kind === kind ? [step.value] : []))
}

/** The address that the image listens on. */
function imageHost(): string | undefined {
  return STEPS.flatMap((step) => (step.kind === 'env' ? [step.values['GRANTOR_HOST']] : [])).find(Boolean)
}
