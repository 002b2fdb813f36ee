import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { forShell } from '../../src/base/shell.ts'

test('a shell reads a quoted text as one word that is the text', () => {
  for (const text of [
    'gus_1',
    'a b',
    '$(id)',
    '`id`',
    "it's",
    '"; id; "',
    'a\nb',
    '',
    '*',
    '~',
    '!!',
    'https://a.test/?b=c&d',
  ])
    assert.equal(execFileSync('sh', ['-c', `printf %s ${forShell(text)}`], { encoding: 'utf8' }), text)
})

/** Texts of this server's own choice. */
const OWN: readonly string[] = ['CONSOLE_CLIENT_ID']

/** What a message has in a command of this program, and is not quoted for a shell. */
function unquotedIn(source: string): readonly string[] {
  return [...source.matchAll(/\bgrantor [a-z][a-z-]+(?:[^`".)\n$]|\$\{[^}]*\}|\.(?! |`))*/g)]
    .flatMap(([command]) => [...command.matchAll(/\$\{([^}]*)\}/g)].map(([, text = '']) => text))
    .filter((text) => !/^forShell\([^]+\)$/.test(text) && !OWN.includes(text))
}

test('CON-33: each text in a command that a message names is quoted for a shell', () => {
  // The commands of keys have nothing but algorithms.
  const paths = globSync('src/**/*.ts').filter((path) => path !== 'src/admin/key/key.ts')
  const found = paths.flatMap((path) => unquotedIn(readFileSync(path, 'utf8')).map((text) => `${path}: ${text}`))
  assert.deepEqual(found, [])
  const planted = ['Run: grantor api show ${resource}', 'See "grantor org members ${forShell(id)} --of ${name}".']
  assert.deepEqual(planted.map(unquotedIn), [['resource'], ['name']])
})
