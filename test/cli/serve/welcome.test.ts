import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { columns, visible } from '../../../src/cli/lib/columns.ts'
import { runCommandLine } from '../../../src/cli/program.ts'
import { openTerminal, type Terminal } from '../../../src/cli/lib/terminal.ts'
import { welcomeLines } from '../../../src/cli/serve/welcome.ts'

const WELCOME = {
  issuer: 'http://localhost:3000',
  version: '1.2.3',
  isLoopbackIssuer: true,
  hasApis: false,
  logsRefusals: false,
  consoleUrl: 'http://localhost:3001',
  command: 'grantor',
  demo: { email: 'demo@example.com', password: 'abcde-fghij-kmnpq' },
} as const

function openFakeTerminal(isTTY: boolean, environment: Readonly<Record<string, string>>) {
  const stdout = Object.assign(new PassThrough(), { isTTY })
  const stderr = new PassThrough()
  const terminal = openTerminal({ stdin: new PassThrough(), stdout, stderr }, environment, 'grantor')
  return { terminal, stdout: () => drain(stdout), stderr: () => drain(stderr) }
}

function drain(stream: PassThrough): string {
  let text = ''
  for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null)
    text += chunk.toString()
  return text
}

function paintOf(isTTY: boolean, environment: Readonly<Record<string, string>> = {}): Terminal['paint'] {
  return openFakeTerminal(isTTY, environment).terminal.paint
}

test('the first start prints four lines: the issuer, the demo user, the console and what to try', () => {
  const lines = welcomeLines(WELCOME, paintOf(true, { NO_COLOR: '1' })).filter((line) => line !== '')
  assert.deepEqual(lines, [
    '  Grantor 1.2.3  http://localhost:3000',
    '  Sign in        demo@example.com with the password abcde-fghij-kmnpq  (shown this once)',
    '  Console        http://localhost:3001/console',
    '  Try it         grantor perform authorization-code',
  ])
  const elsewhere = welcomeLines({ ...WELCOME, issuer: 'http://127.0.0.1:8080' }, paintOf(false)).join('\n')
  assert.match(elsewhere, /perform authorization-code --issuer http:\/\/127\.0\.0\.1:8080$/m)
})

test('a later start prints five lines, with what can be requested and how to log rejected requests', () => {
  const plain = paintOf(false)
  const later = { ...WELCOME, demo: undefined }
  assert.equal(welcomeLines(later, plain).length, 5)
  assert.match(welcomeLines(later, plain).join('\n'), /Log +LOG_LEVEL=info shows each refused request/)
  assert.equal(welcomeLines({ ...later, logsRefusals: true }, plain).length, 4)
  assert.match(welcomeLines(later, plain).join('\n'), /Console +http:\/\/localhost:3001\/console/)
  assert.equal(welcomeLines({ ...later, consoleUrl: undefined }, plain).length, 4)
  assert.match(welcomeLines({ ...later, hasApis: true }, plain).join('\n'), /for the declared APIs only/)
  assert.match(welcomeLines({ ...later, isLoopbackIssuer: false }, plain).join('\n'), /no scope can be requested/)
})

test('output is coloured only on a terminal, and never with NO_COLOR', () => {
  assert.equal(paintOf(true)('red', 'x'), '\u001b[31mx\u001b[39m')
  assert.equal(paintOf(false)('red', 'x'), 'x')
  assert.equal(paintOf(false, { FORCE_COLOR: '1' })('red', 'x'), 'x')
  assert.equal(paintOf(true, { NO_COLOR: '1' })('red', 'x'), 'x')
  assert.equal(paintOf(true, { TERM: 'dumb' })('red', 'x'), 'x')
})

test('control and format characters are printed as code points', () => {
  assert.equal(visible('a\u001b[2J\u202eb\nc'), String.raw`a\u{1b}[2J\u{202e}b\u{a}c`)
  assert.deepEqual(columns(['A', 'B'], [['ä\u0007', 'x']], paintOf(false)), ['A       B', String.raw`ä\u{7}  x`])
})

test('serve --help lists every setting; the top level points to it', async () => {
  const { terminal, stdout } = openFakeTerminal(false, {})
  assert.equal(await runCommandLine(['serve', '--help'], terminal), 0)
  assert.match(
    stdout(),
    /GRANTOR_REGISTRATION_RATE\n +Registrations per minute and network\. \[1–1000000000\] Default: 60\./,
  )
  assert.equal(await runCommandLine(['--help'], terminal), 0)
  assert.match(stdout(), /grantor serve --help/)
})

test('a noun without a verb prints the help with exit code 2', async () => {
  const { terminal, stderr } = openFakeTerminal(false, {})
  assert.equal(await runCommandLine([], terminal), 2)
  assert.match(stderr(), /Usage: grantor/)
})
