/** `@std/testing/bdd` over the runtime's own `node:test`, for machines that cannot reach JSR. */
export {
  after as afterAll,
  afterEach,
  before as beforeAll,
  beforeEach,
  describe,
  it,
} from "node:test";
