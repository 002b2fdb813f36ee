/**
 * `node:http` as `require` gives it. An import reads every export of it, among them those of the HTTP client, which a server
 * has no use for: 16 MB of memory and 40 ms of each start.
 */
export const { createServer, IncomingMessage, ServerResponse } = process.getBuiltinModule('node:http')
