import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import * as z from 'zod'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { PATHS } from '../../src/endpoints/paths.ts'
import { parseDockerfile, type Step } from '../../prove/container/dockerfile.ts'

/** deploy/container and deploy/compose, without a container engine. `npm run prove container` executes the Dockerfile. */

const DOCKERFILE = 'deploy/container/Dockerfile'
const TEXT = readFileSync(DOCKERFILE, 'utf8')
const STAGES = parseDockerfile(TEXT)
const STEPS = STAGES.at(-1)?.steps ?? []
const COMPOSE = 'deploy/compose'
/** The user of the image. */
const USER = '65532:65532'

/** The parts of the Compose Specification that the files use. Any other member is a mistake. */
const SERVICE = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  environment: z.record(z.string(), z.string()),
  secrets: z.array(z.string()).default([]),
  depends_on: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).default([]),
  ports: z.array(z.string().regex(/^(127\.0\.0\.1:)?\d+:\d+$/)).default([]),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  healthcheck: z
    .strictObject({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.number() })
    .optional(),
  command: z.array(z.string()).optional(),
  profiles: z.tuple([z.literal('apply')]).optional(),
  restart: z.enum(['unless-stopped', 'no']),
  stop_grace_period: z.literal('15s').optional(),
  read_only: z.literal(true).optional(),
  cap_drop: z.tuple([z.literal('ALL')]).optional(),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]).optional(),
})
const FILE = z.strictObject({
  name: z.literal('grantor'),
  'x-node': z.unknown().optional(),
  services: z.record(z.string(), SERVICE),
  networks: z.record(z.string(), z.unknown()).default({}),
  volumes: z.record(z.string(), z.null()),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })).default({}),
})

function readCompose(name: string): z.output<typeof FILE> {
  return FILE.parse(parse(readFileSync(join(COMPOSE, name), 'utf8'), { merge: true }))
}

function valuesOf<Kind extends Step['kind']>(kind: Kind): readonly (Step & { readonly kind: Kind })[] {
  return STEPS.filter((step): step is Step & { readonly kind: Kind } => step.kind === kind)
}

for (const line of [
  'ADD app.tar /app',
  'RUN --mount=type=cache npm ci',
  'RUN ["npm", "ci"]',
  'COPY --chown=1:1 bin bin',
  'COPY *.json ./',
  'USER node',
  'WORKDIR relative',
  'ENV NAME="a value"',
  'CMD node bin/grantor.js',
  'ONBUILD RUN true',
])
  test(`a Dockerfile with "${line}" is not executed in another way than an engine does: it is refused`, () => {
    assert.throws(() => parseDockerfile(`FROM base\n${line}\n`), /is not known/)
    assert.throws(() => parseDockerfile(`${line}\n`), /is not known/)
  })

test('the image runs as a user without rights, has one volume, publishes the port of the server, and checks its health', () => {
  assert.deepEqual(
    valuesOf('user').map(({ value }) => value),
    [USER],
  )
  assert.deepEqual(
    valuesOf('volume').map(({ value }) => value),
    ['/data'],
  )
  const env = Object.assign({}, ...valuesOf('env').map(({ values }) => values)) as Readonly<Record<string, string>>
  const config = readConfig(env)
  assert.deepEqual(
    valuesOf('expose').map(({ value }) => value),
    [String(config.port)],
  )
  assert.equal(config.host, '0.0.0.0')
  const folder = valuesOf('workdir').at(-1)?.value ?? ''
  assert.equal(join(folder, config.database.kind === 'sqlite' ? config.database.path : ''), '/data/grantor.db')
  const [entrypoint, health] = [valuesOf('entrypoint')[0]?.words ?? [], valuesOf('healthcheck')[0]?.words]
  assert.deepEqual(health, [...entrypoint, 'health'])
  assert.ok(existsSync((entrypoint[1] ?? '').replace('/app/', '')))
})

test('what the Dockerfile copies exists, and is what is sent to the builder', () => {
  const sources = STAGES.flatMap(({ steps }) => steps)
    .filter((step) => step.kind === 'copy' && step.from === undefined)
    .flatMap((step) => (step.kind === 'copy' ? step.sources : []))
  assert.deepEqual(
    sources.filter((source) => !existsSync(source)),
    [],
  )
  const sent = readFileSync(`${DOCKERFILE}.dockerignore`, 'utf8').match(/(?<=^!).+$/gm) ?? []
  assert.deepEqual(sent.toSorted(), sources.toSorted())
})

for (const name of ['compose.yaml', 'compose.postgres.yaml']) {
  test(`${name} names services, volumes, networks, secrets and files that exist, and settings that the server accepts`, () => {
    const { services, networks, volumes, secrets } = readCompose(name)
    for (const [service, { build, depends_on, volumes: mounts, networks: joined, secrets: read }] of Object.entries(
      services,
    )) {
      const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)
      for (const other of needed) assert.ok(other in services, `${service} needs ${other}`)
      for (const mount of mounts) {
        const [source = ''] = mount.split(':')
        assert.ok(
          source.startsWith('./') ? existsSync(join(COMPOSE, source)) : source in volumes,
          `${service}: ${mount}`,
        )
      }
      for (const network of joined) assert.ok(network in networks, `${service}: ${network}`)
      for (const secret of read) assert.ok(secret in secrets, `${service}: ${secret}`)
      if (build !== undefined) assert.ok(existsSync(join(COMPOSE, build.context, build.dockerfile)))
    }
    const nodes = Object.values(services).filter(({ image }) => image === 'grantor')
    assert.equal(nodes.filter(({ command }) => command === undefined).length, name === 'compose.yaml' ? 1 : 2)
    for (const { environment, secrets: read, read_only, cap_drop } of nodes) {
      assert.deepEqual([read_only, cap_drop], [true, ['ALL']])
      for (const values of [{}, exampleValues()])
        readConfig({ GRANTOR_HOST: '0.0.0.0', ...settingsOf(environment, read, values) })
    }
  })
}

test('compose.yaml publishes the port of the image, on this machine only, and keeps its volume', () => {
  const { ports, volumes } = readCompose('compose.yaml').services['grantor'] ?? assert.fail()
  assert.deepEqual([ports, volumes], [['127.0.0.1:3000:3000'], ['data:/data']])
})

test('compose.yaml has a service that applies a file to the store of the server, and ends', () => {
  const { grantor, apply } = readCompose('compose.yaml').services
  assert.deepEqual(
    [apply?.restart, apply?.profiles, apply?.environment['GRANTOR_ISSUER']],
    ['no', ['apply'], grantor?.environment['GRANTOR_ISSUER']],
  )
  const [data, file = ''] = apply?.volumes ?? []
  assert.equal(data, grantor?.volumes[0])
  assert.ok(existsSync(join(COMPOSE, file.split(':')[0] ?? '')))
  assert.deepEqual(apply?.command, ['apply', '--yes', '--file', file.split(':')[1]])
})

test('the Caddyfile of the compose file is the recipe that prove proxies tests, with its own names', () => {
  const [recipe, own] = ['deploy/caddy/Caddyfile', `${COMPOSE}/Caddyfile`].map((path) => readFileSync(path, 'utf8'))
  const { services } = readCompose('compose.postgres.yaml')
  const nodes = Object.keys(services).filter((name) => services[name]?.image === 'grantor')
  const named = (recipe ?? '')
    .replace('10.0.0.11:3000 10.0.0.12:3000', nodes.map((node) => `${node}:3000`).join(' '))
    .replace('auth.example.com {', '{$HOST_NAME} {')
  assert.equal(withoutComments(own ?? ''), withoutComments(named))
  assert.match(own ?? '', new RegExp(`health_uri ${PATHS.ready}$`, 'm'))
  assert.deepEqual(services['caddy']?.volumes[0], './Caddyfile:/etc/caddy/Caddyfile:ro')
})

/** The values of .env.example, which fill in the variables of the compose files. */
function exampleValues(): Readonly<Record<string, string>> {
  const lines = readFileSync(join(COMPOSE, '.env.example'), 'utf8').matchAll(/^(\w+)=(.*)$/gm)
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]))
}

/** The environment of a node as the engine makes it, with the secrets in place of the files that name them. */
function settingsOf(
  environment: Readonly<Record<string, string>>,
  secrets: readonly string[],
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const settings = Object.entries(environment).map(([name, value]) => {
    const filled = value.replaceAll(
      /\$\{(\w+):-([^}]*)\}/g,
      (_, variable: string, otherwise: string) => values[variable] ?? otherwise,
    )
    if (!name.endsWith('_FILE')) return [name, filled]
    assert.equal(dirname(filled), '/run/secrets')
    assert.ok(secrets.includes(basename(filled)), filled)
    return [name.replace('_FILE', ''), SECRETS[basename(filled)] ?? assert.fail(filled)]
  })
  return Object.fromEntries(settings) as Readonly<Record<string, string>>
}

const SECRETS: Readonly<Record<string, string>> = {
  grantor_secret: 's'.repeat(43),
  database_url: 'postgres://grantor:password@postgres:5432/grantor',
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*#.*\n/gm, '').trim()
}

test('systemd: the unit of the backup, which reads the same database and secret, is confined as the server is', () => {
  const server = confinementOf('grantor.service')
  assert.ok(server.length > 20)
  assert.deepEqual(confinementOf('grantor-backup.service'), server)
})

/** The settings of a unit that take rights away. */
function confinementOf(unit: string): readonly string[] {
  const lines = readFileSync(`deploy/systemd/${unit}`, 'utf8').split('\n')
  return lines.filter((line) => /^(NoNew|Capability|Protect|Private|Restrict|Lock|SystemCall|UMask)\w*=/.test(line))
}
