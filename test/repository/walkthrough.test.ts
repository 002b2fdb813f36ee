import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { replay } from '../../tools/replay.ts'
import { temporaryFolder } from '../support/server.ts'
import { openPageCommands } from './page-commands.ts'
import { rehearse, walkThrough } from './page-replays.ts'

const { PATH = '' } = process.env

test('the commands of docs/walkthrough.md give exactly the outputs that the page shows, and leave no file', async (t) => {
  assert.deepEqual(await walkThrough(t, await openPageCommands(t)), [''])
})

test('the commands of docs/operations/rehearsal.md give exactly the outputs that the page shows', async (t) => {
  assert.equal(await rehearse(t, await openPageCommands(t)), '')
})

const PLANTED: Readonly<Record<string, readonly [page: string, fault: RegExp | undefined]>> = {
  'no fault': [
    block('sh', 'one=1 name="a b"; greet() { echo "id  $1 at $RANDOM"; }') +
      block('sh', 'greet "$name"') +
      block('', 'id $name at …'),
    undefined,
  ],
  'no fault of an example': [block('sh example', 'false') + block('sh', 'echo one') + block('', 'one'), undefined],
  'a different line': [
    block('sh', 'echo one; echo two') + block('', 'one\nthree'),
    /Line 2: the page shows\n {2}three\n.*\n {2}two$/,
  ],
  'a different value': [block('sh', 'one=1; echo 2') + block('', '$one'), /the page shows\n {2}\$one\n.*\n {2}2$/],
  'an empty value': [block('sh', 'one=; echo') + block('', '$one'), /the page shows\n {2}\$one/],
  'an additional line': [block('sh', 'echo one; echo two') + block('', 'one'), /shows\n {2}\(nothing\)\n.*\n {2}two$/],
  'a missing line': [block('sh', 'echo one') + block('', 'one\ntwo'), /shows\n {2}two\n.*\n {2}\(nothing\)$/],
  'an output that is not shown': [block('sh', 'echo oops >&2'), /shows\n {2}\(nothing\)\n.*\n {2}oops$/],
  'an empty text in place of …': [block('sh', 'echo "[]"') + block('', '[…]'), /shows\n {2}\[…\]/],
  'a command that fails': [
    block('sh', 'echo fine; false') + block('', 'fine'),
    /^Line 2: this failed:\necho fine; false\n/,
  ],
  'a command that fails in a pipe': [block('sh', 'false | cat'), /^Line 2: this failed/],
  'an unset variable': [block('sh', 'echo "$nothing"'), /nothing: unbound variable/],
  'an unset variable in an output': [block('sh', 'echo 1') + block('', '$nothing'), /nothing: unbound variable/],
  'a syntax error': [block('sh', 'if'), /syntax error/],
  'no end': [block('sh', 'sleep 60'), /The shell was ended after 0\.3 s/],
}

for (const [what, [page, fault]] of Object.entries(PLANTED)) {
  test(`a replay reports ${what}`, async (t) => {
    const folder = join(temporaryFolder(t), 'replay')
    mkdirSync(folder)
    const faults = await replay({ page, folder, environment: { PATH }, limitMs: what === 'no end' ? 300 : 30_000 })
    if (fault === undefined) assert.deepEqual(faults, [])
    else assert.match(faults.join('\n'), fault)
  })
}

test('a replay may ignore outputs that the page does not show, and gives the script to a program of the caller', async (t) => {
  const of = (page: string) =>
    replay({
      page,
      folder: temporaryFolder(t),
      environment: { PATH },
      limitMs: 30_000,
      shell: ['bash', '-x'],
      mayPrint: true,
    })
  assert.deepEqual(await of(block('sh', 'echo oops')), [])
  assert.match((await of(block('sh', 'echo oops') + block('', 'one'))).join('\n'), /shows\n {2}one\n/)
  assert.match((await of(block('sh', 'false'))).join('\n'), /this failed[^]*\+ false/)
})

function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\`\n\n`
}
