import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../../support/server.ts'
import { openPlace, serve } from '../../support/process.ts'

/** What a start loads, and what it finds compiled. */

const BIN = new URL('../../../bin/', import.meta.url)
const { isOursAlone } = (await import(new URL('compile-cache.js', BIN).href)) as {
  isOursAlone: (folder: string) => boolean
}

/** Writes at the end what was loaded: Node's own modules, and the files of ours and of packages. A pipe may not take all of it. */
const WITNESS = `
  import { writeFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ resolve(name, context, next) { const found = next(name, context); loaded.push(found.url); return found } })
  process.on('exit', () => writeFileSync(process.env.WITNESS, JSON.stringify([...loaded, ...process.moduleLoadList])))
`

test('a second start compiles nothing again, and loads no TypeScript compiler, HTTP client, other database or other command', async (t) => {
  const place = await openPlace(t)
  const cache = temporaryFolder(t)
  const list = join(temporaryFolder(t), 'loaded.json')
  const environment = { NODE_COMPILE_CACHE: cache, GRANTOR_ADMIN_PORT: 'off', WITNESS: list }
  const filled = spawnSync(process.execPath, [fileURLToPath(new URL('after-install.js', BIN))], { env: environment })
  assert.deepEqual([filled.status, filled.stdout.toString(), filled.stderr.toString()], [0, '', ''])
  const kept = timesOf(cache)
  assert.ok(kept.length > 500)
  const witness = ['--import', `data:text/javascript,${encodeURIComponent(WITNESS)}`]
  const command = [process.execPath, ...witness, fileURLToPath(new URL('grantor.js', BIN))] as const
  const server = await serve(place, { command, environment })
  server.child.kill('SIGTERM')
  await server.exited
  const now = new Map(timesOf(cache))
  assert.deepEqual(
    kept.filter(([path, time]) => now.get(path) !== time),
    [],
  )
  const loaded = JSON.parse(readFileSync(list, 'utf8')) as readonly string[]
  assert.ok(loaded.some((name) => name.endsWith('src/store/sqlite/store.ts')))
  const needless =
    /deps\/(amaro|undici)|node_modules\/(pg|jose|@clack|@opentelemetry)|src\/(store\/postgres|admin\/(.*tasks|fields)|cli\/lib\/task-verb)/
  assert.deepEqual(
    loaded.filter((name) => needless.test(name)),
    [],
  )
})

/** When each file of a folder was written. */
function timesOf(folder: string): readonly (readonly [path: string, time: number])[] {
  const paths = globSync('*/*', { cwd: folder })
  return paths.map((path) => [path, statSync(join(folder, path)).mtimeMs])
}

test(
  'SIGTERM to npm start, which ends only the shell of the server, ends the server',
  { timeout: 30_000 },
  async (t) => {
    const shell = ['sh', '-c', '"$0" "$@"; exit', process.execPath, fileURLToPath(new URL('grantor.js', BIN))] as const
    const server = await serve(await openPlace(t), { command: shell, environment: { npm_lifecycle_event: 'start' } })
    server.child.kill('SIGTERM')
    // The server has the standard output, which is closed when the server has ended.
    const { stdout } = await server.exited
    assert.match(stdout, /"event":"server.stopped"/)
  },
)

test('the compile cache is in a folder that only its user can write to, and the server starts without it', (t) => {
  const folder = temporaryFolder(t)
  const fresh = join(folder, 'packages', 'cache')
  assert.ok(isOursAlone(fresh))
  assert.equal(statSync(fresh).mode & 0o777, 0o700)
  assert.ok(isOursAlone(fresh), 'It was there already.')
  chmodSync(fresh, 0o777)
  assert.equal(isOursAlone(fresh), false)
  writeFileSync(join(folder, 'file'), '')
  assert.equal(isOursAlone(join(folder, 'file', 'cache')), false)
  mkdirSync(join(folder, 'group'), { mode: 0o770 })
  chmodSync(join(folder, 'group'), 0o770)
  assert.equal(isOursAlone(join(folder, 'group')), false)
})

/** Says at the end whether V8 allocates a list among the young objects, although many lists of the same line have lived long. */
const ALLOCATION_WITNESS = `
  process.on('exit', () => {
    const list = new Function('value', 'return [value, value]');
    %PrepareFunctionForOptimization(list);
    const kept = []
    for (let round = 0; round < 4; round += 1) {
      for (let count = 0; count < 500; count += 1) kept.push(list(count))
      gc({ type: 'minor' })
    }
    %OptimizeFunctionOnNextCall(list);
    process.stderr.write(%InYoungGeneration(list(kept)) ? 'young' : 'old')
  })
`

test('a server allocates no object of a request among those that live long', async (t) => {
  // V8 decides only when its space for young objects has its full size.
  const space = ['--min-semi-space-size=1', '--max-semi-space-size=1']
  const witness = ['--import', `data:text/javascript,${encodeURIComponent(ALLOCATION_WITNESS)}`]
  const node = [process.execPath, '--allow-natives-syntax', '--expose-gc', ...space, ...witness] as const
  assert.equal(spawnSync(node[0], [...node.slice(1), '--eval', '0']).stderr.toString(), 'old')
  const command = [...node, fileURLToPath(new URL('grantor.js', BIN))] as const
  const server = await serve(await openPlace(t), { command })
  server.child.kill('SIGTERM')
  assert.equal((await server.exited).stderr, 'young')
})
