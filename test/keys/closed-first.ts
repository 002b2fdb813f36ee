import type { TestContext } from 'node:test'
import type { TestServer } from '../server.ts'

/** Closes servers before whatever is registered later, such as the removal of the folder that they share, happens. */
export function closedFirst(test: Pick<TestContext, 'after'>): (server: TestServer) => TestServer {
  const servers: TestServer[] = []
  test.after(async () => void (await Promise.all(servers.map((server) => server.close()))))
  return (server) => {
    servers.push(server)
    return server
  }
}
