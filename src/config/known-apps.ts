/** The addresses at which a released app waits for an authorization response. docs/real-clients.md names the apps. */
export interface KnownApp {
  readonly app: string
  /** A scheme or a pattern, as GRANTOR_REDIRECT_SCHEMES has it. */
  readonly entry: string
  /** A redirect URI that the app registers. */
  readonly uri: string
  /** Where the app, or a server that the app registered at, shows the URI. */
  readonly source: string
  /** The day on which the source was read. */
  readonly readOn: string
}

/**
 * What GRANTOR_REDIRECT_SCHEMES adds to. These apps accept commands by the same schemes, for example to install a server, so an entry is
 * as narrow as what the source shows. An app with a dot in its scheme, or with https or loopback only, needs no row.
 */
export const KNOWN_APPS: readonly KnownApp[] = [
  {
    app: 'Cursor',
    entry: 'cursor://anysphere.cursor-mcp/oauth/callback',
    uri: 'cursor://anysphere.cursor-mcp/oauth/callback',
    source: 'https://github.com/laravel/mcp/issues/173',
    readOn: '2026-11-30',
  },
  {
    app: 'Cursor, earlier releases',
    entry: 'cursor://anysphere.cursor-retrieval/oauth/**callback',
    uri: 'cursor://anysphere.cursor-retrieval/oauth/user-files/callback',
    source: 'https://github.com/msfeldstein/mcp-test-servers/blob/main/OAUTH-TESTING-INSTRUCTIONS.md',
    readOn: '2026-11-30',
  },
  {
    app: 'Claude Desktop',
    entry: 'claude://claude.ai/mcp-auth-callback/**',
    uri: 'claude://claude.ai/mcp-auth-callback/sdk',
    source: 'https://github.com/anthropics/claude-code/issues/93671',
    readOn: '2026-11-30',
  },
  {
    app: 'Grok Bot',
    entry: 'grokbot://mcp/oauth/callback',
    uri: 'grokbot://mcp/oauth/callback',
    source: 'https://github.com/jlxq0/carddav-mcp/blob/main/README.md',
    readOn: '2026-11-30',
  },
  {
    app: 'Warp',
    entry: 'warp://mcp/oauth2callback',
    uri: 'warp://mcp/oauth2callback',
    source: 'https://github.com/warpdotdev/warp/blob/main/app/src/ai/mcp/templatable_manager/oauth.rs',
    readOn: '2026-11-30',
  },
  {
    app: 'Raycast',
    entry: 'raycast://oauth',
    uri: 'raycast://oauth?package_name=mcp_server_notes',
    source: 'https://github.com/dust-tt/dust/blob/main/front/lib/api/mcp_server/oauth_registration.test.ts',
    readOn: '2026-11-30',
  },
  {
    app: 'WorkBuddy',
    entry: 'workbuddy://workbuddy/mcp/*/oauth/callback',
    uri: 'workbuddy://workbuddy/mcp/connector%3Anotes/oauth/callback',
    source: 'https://github.com/liketrek/TREK/issues/2227',
    readOn: '2026-11-30',
  },
  {
    app: 'Cline in VS Code',
    entry: 'vscode://*.*/**callback**',
    uri: 'vscode://saoudrizwan.claude-dev/mcp-auth/callback/0a1b2c',
    source: 'https://github.com/cline/cline/issues/8103',
    readOn: '2026-11-30',
  },
  {
    app: 'Cline in VS Code Insiders',
    entry: 'vscode-insiders://*.*/**callback**',
    uri: 'vscode-insiders://saoudrizwan.claude-dev/mcp-auth/callback/0a1b2c',
    source: 'https://github.com/cline/cline/issues/2496',
    readOn: '2026-11-30',
  },
  {
    app: 'Cline in Windsurf',
    entry: 'windsurf://*.*/**callback**',
    uri: 'windsurf://saoudrizwan.claude-dev/mcp-auth/callback/0a1b2c',
    source: 'https://github.com/cline/cline/issues/2496',
    readOn: '2026-11-30',
  },
  {
    app: 'Cline in Cursor',
    entry: 'cursor://*.*/mcp-auth/callback/**',
    uri: 'cursor://saoudrizwan.claude-dev/mcp-auth/callback/0a1b2c',
    source: 'https://github.com/cline/cline/issues/2496',
    readOn: '2026-11-30',
  },
  {
    app: 'Sign-in of VS Code',
    entry: 'vscode://vscode.*-authentication/**',
    uri: 'vscode://vscode.github-authentication/did-authenticate?windowId=1',
    source: 'https://github.com/microsoft/vscode/tree/main/extensions/github-authentication',
    readOn: '2026-11-30',
  },
  {
    app: 'Sign-in of VS Code Insiders',
    entry: 'vscode-insiders://vscode.*-authentication/**',
    uri: 'vscode-insiders://vscode.github-authentication/did-authenticate',
    source: 'https://github.com/microsoft/vscode/tree/main/extensions/github-authentication',
    readOn: '2026-11-30',
  },
]

/** The entry that takes the known apps away. */
const NONE = 'none'

/** Returns the entries that count: those of known apps, unless the operator takes them away, and those that the operator added. */
export function withKnownApps(added: readonly string[]): readonly string[] {
  const known = added.includes(NONE) ? [] : KNOWN_APPS.map(({ entry }) => entry)
  return [...known, ...added.filter((entry) => entry !== NONE)]
}
