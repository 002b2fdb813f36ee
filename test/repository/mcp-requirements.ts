/** The revision of the authorization specification of MCP that docs/mcp.md follows and test/mcp.md answers. */
export const MCP_REVISION = '2026-07-28'

interface Requirement {
  readonly level: 'MUST' | 'SHOULD' | 'SHOULD NOT' | 'MAY'
  /** The page below basic/authorization of the specification, and its heading. */
  readonly source: string
}

/**
 * What the specification demands, read from its pages of that revision. For a new revision: compare its pages with the former ones, change the
 * rows, and answer each in test/mcp.md.
 */
export const MCP_REQUIREMENTS: Readonly<Record<string, Requirement>> = {
  'MCP-01': { level: 'MUST', source: 'index: Overview 1' },
  'MCP-02': { level: 'SHOULD', source: 'index: Overview 2' },
  'MCP-03': { level: 'MAY', source: 'index: Overview 3' },
  'MCP-04': { level: 'MUST', source: 'index: Overview 4' },
  'MCP-05': { level: 'MUST', source: 'index: Overview 5' },
  'MCP-06': { level: 'MUST', source: 'authorization-server-discovery: Authorization Server Metadata Discovery' },
  'MCP-07': {
    level: 'MUST',
    source: 'authorization-server-discovery: Protected Resource Metadata Discovery Requirements',
  },
  'MCP-08': { level: 'MUST', source: 'authorization-server-discovery: Authorization Server Metadata Discovery' },
  'MCP-09': { level: 'MUST', source: 'authorization-server-discovery: Authorization Server Location' },
  'MCP-10': { level: 'SHOULD', source: 'index: Scope Selection Strategy' },
  'MCP-11': { level: 'SHOULD', source: 'index: Scope Selection Strategy' },
  'MCP-12': { level: 'SHOULD', source: 'index: Authorization Response Validation' },
  'MCP-13': { level: 'MUST', source: 'index: Authorization Response Validation' },
  'MCP-14': { level: 'MUST', source: 'index: Authorization Response Validation' },
  'MCP-15': { level: 'MUST', source: 'index: Resource Parameter Implementation' },
  'MCP-16': { level: 'SHOULD', source: 'index: Canonical Server URI' },
  'MCP-17': { level: 'SHOULD', source: 'index: Canonical Server URI' },
  'MCP-18': { level: 'MUST', source: 'index: Token Requirements' },
  'MCP-19': { level: 'MUST', source: 'index: Token Handling' },
  'MCP-20': { level: 'MUST', source: 'index: Token Handling' },
  'MCP-21': { level: 'MUST', source: 'index: Refresh Tokens' },
  'MCP-22': { level: 'SHOULD NOT', source: 'index: Refresh Tokens' },
  'MCP-23': { level: 'MUST', source: 'index: Error Handling' },
  'MCP-24': { level: 'SHOULD', source: 'index: Runtime Insufficient Scope Errors' },
  'MCP-25': { level: 'SHOULD', source: 'index: Runtime Insufficient Scope Errors' },
  'MCP-26': { level: 'SHOULD', source: 'index: Step-Up Authorization Flow' },
  'MCP-27': { level: 'MUST', source: 'index: Step-Up Authorization Flow' },
  'MCP-28': { level: 'SHOULD', source: 'client-registration: Client Registration' },
  'MCP-29': { level: 'SHOULD', source: 'client-registration: Implementation Requirements' },
  'MCP-30': { level: 'MUST', source: 'client-registration: Implementation Requirements' },
  'MCP-31': { level: 'MUST', source: 'client-registration: Implementation Requirements' },
  'MCP-32': { level: 'MUST', source: 'client-registration: Implementation Requirements' },
  'MCP-33': { level: 'SHOULD', source: 'client-registration: Advertising CIMD Support' },
  'MCP-34': { level: 'SHOULD', source: 'client-registration: Pre-registration' },
  'MCP-35': { level: 'MUST', source: 'client-registration: Application Type and Redirect URI Constraints' },
  'MCP-36': { level: 'MUST', source: 'security-considerations: Introduction' },
  'MCP-37': { level: 'SHOULD', source: 'security-considerations: Token Theft' },
  'MCP-38': { level: 'MUST', source: 'security-considerations: Token Theft' },
  'MCP-39': { level: 'MUST', source: 'security-considerations: Communication Security' },
  'MCP-40': { level: 'MUST', source: 'security-considerations: Communication Security' },
  'MCP-41': { level: 'MUST', source: 'security-considerations: Authorization Code Protection' },
  'MCP-42': { level: 'MUST', source: 'security-considerations: Authorization Code Protection' },
  'MCP-43': { level: 'MUST', source: 'security-considerations: Open Redirection' },
  'MCP-44': { level: 'MUST', source: 'security-considerations: Open Redirection' },
  'MCP-45': { level: 'SHOULD', source: 'security-considerations: Authorization Server Abuse Protection' },
  'MCP-46': { level: 'SHOULD', source: 'security-considerations: Localhost Redirect URI Risks' },
  'MCP-47': { level: 'MUST', source: 'security-considerations: Localhost Redirect URI Risks' },
  'MCP-48': { level: 'MAY', source: 'security-considerations: Trust Policies' },
  'MCP-49': { level: 'MUST', source: 'security-considerations: Confused Deputy Problem' },
}
