import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAppRedirectEntry, openAppRedirects } from '../../../src/protocol/uri/app-redirect.ts'
import { SETTINGS } from '../../../src/config/schema.ts'

const DEFAULTS = openAppRedirects(SETTINGS.parse({}).GRANTOR_REDIRECT_SCHEMES)

/** Redirect URIs that released clients register. */
const CALLBACKS = [
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'cursor://anysphere.cursor-retrieval/oauth/callback',
  'cursor://anysphere.cursor-retrieval/oauth/user-files/callback',
  'claude://claude.ai/mcp-auth-callback/sdk',
  'vscode://vscode.github-authentication/did-authenticate',
  'vscode://vscode.github-authentication/did-authenticate?windowId=1',
  'vscode-insiders://vscode.github-authentication/did-authenticate',
  'vscode://vscode.microsoft-authentication',
  'vscode://vscode.microsoft-authentication/',
  'vscode://vscode.microsoft-authentication?windowId=1',
  'vscode://saoudrizwan.claude-dev/mcp-auth/callback/0a1b2c',
  'vscode://RooVeterinaryInc.roo-cline/mcp/callback',
  'cursor://saoudrizwan.claude-dev/mcp-auth/callback/0a1b2c',
  'windsurf://codeium.windsurf/callback',
  'warp://mcp/oauth2callback',
  'grokbot://mcp/oauth/callback',
  'raycast://oauth?package_name=mcp_server_notes_(dev)',
  'workbuddy://workbuddy/mcp/custom-mcp%3Anotes/oauth/callback',
]

/** Commands that the same programs accept through their schemes. */
const COMMANDS = [
  'cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=callback',
  'cursor://anysphere.cursor-deeplink/prompt?text=x',
  'cursor://anysphere.cursor-mcp/oauth/callback/more',
  'cursor://anysphere.cursor-mcp.evil/oauth/callbac',
  'cursor:callback',
  'claude://claude.ai/new?q=mcp-auth-callback/sdk',
  'claude://claude.ai/mcp-auth-callback',
  'vscode:mcp/install?callback',
  'vscode:extension/evil.callback',
  'vscode://file/etc/callback',
  'vscode://vscode-remote/ssh-remote+evil/callback',
  'vscode://GitHub.copilot-chat/openChat?prompt=/callback',
  'vscode://evil.vscode.github-authentication/did-authenticate',
  'windsurf://codeium.windsurf/openChat?prompt=x',
  'zed://settings',
  'zed://extension/callback',
  'warp://action/new_window?path=/mcp/oauth2callback',
  'warp://mcp/oauth2callback/more',
  'warp://launch/mcp/oauth2callback',
  'grokbot://app/v1/bot-template?id=x',
  'grokbot://mcp/oauth/callback/app',
  'raycast://extensions/raycast/system/open',
  'raycast://oauth/callback',
  'raycast://script-commands/oauth',
  'workbuddy://workbuddy/mcp/a/b/oauth/callback',
  'workbuddy://workbuddy/mcp/a/oauth/callback/../..',
  'other://anysphere.cursor-mcp/oauth/callback',
]

test('REG-07: the defaults allow the URIs at which known apps expect an authorization response', () => {
  for (const uri of CALLBACKS) assert.ok(DEFAULTS.allows(uri), uri)
})

test('REG-07: the defaults refuse commands of the same apps, such as the installation of a server', () => {
  for (const uri of COMMANDS) assert.ok(!DEFAULTS.allows(uri), uri)
})

test('REG-07: an entry without a colon allows every URI of the scheme', () => {
  const apps = openAppRedirects(['Cursor', 'x-y+z'])
  for (const uri of ['cursor://x/y', 'cursor:anything', 'x-y+z:/cb']) assert.ok(apps.allows(uri), uri)
  for (const uri of ['cursorx://x', 'cursor-x:/', 'zed://oauth/callback']) assert.ok(!apps.allows(uri), uri)
  assert.deepEqual(apps.schemes, ['cursor', 'x-y+z'])
})

test('REG-07: a pattern must match the whole URI: * matches within one segment, and other characters match themselves', () => {
  const table = [
    [
      'app://host/a',
      ['app://host/a', 'app://host/a?x=1'],
      ['app://host/ab', 'app://host/a/b', 'app://hostx/a', 'app://host'],
    ],
    ['app://host', ['app://host', 'app://host/', 'app://host?x'], ['app://host/a', 'app://host.b']],
    ['app://*/a', ['app://x/a', 'app:///a'], ['app://x/y/a', 'app://x.y/a', 'app://x?/a']],
    ['app://a.b/**', ['app://a.b/', 'app://a.b/c/d.e', 'app://a.b'], ['app://axb/c', 'app://a.b.c/d']],
    ['app:/cb', ['app:/cb', 'app:/cb?x'], ['app:cb', 'app:/cb/x', 'app://cb']],
    ['app://h/(a+)+$', ['app://h/(a+)+$'], ['app://h/aa']],
  ] as const
  for (const [entry, allowed, others] of table) {
    const apps = openAppRedirects([entry])
    for (const uri of allowed) assert.ok(apps.allows(uri), `${entry} ${uri}`)
    for (const uri of others) assert.ok(!apps.allows(uri), `${entry} ${uri}`)
  }
})

test('every entry that the setting accepts compiles, and without * it allows its own text', () => {
  const characters = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) })
  const property = fc.property(characters, (rest) => {
    const entry = `app:${rest}`
    if (!isAppRedirectEntry(entry)) return
    const apps = openAppRedirects([entry])
    if (!rest.includes('*')) assert.ok(apps.allows(entry), entry)
    assert.ok(!apps.allows(`other:${rest}`))
  })
  fc.assert(property, { numRuns: 2000 })
})
