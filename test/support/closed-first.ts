import type { TestContext } from 'node:test'
import type { TestServer } from './server.ts'

/** Closes servers after the test, before the hooks that are registered later, such as the removal of their shared folder. */
export function closedFirst(test: Pick<TestContext, 'after'>): (server: TestServer) => TestServer {
  const servers: TestServer[] = []
  test.after(async () => void (await Promise.all(servers.map((server) => server.close()))))
  return (server) => {
    servers.push(server)
    return server
  }
}
