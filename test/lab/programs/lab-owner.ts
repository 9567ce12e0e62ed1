// For lab.test.ts: a process that owns a lab and ends in the way under test.
import { createLab } from "../lab.js";

const lab = await createLab({ name: "owner" });
const host = await lab.addHost("one");
const running = await host.spawn(["sleep", "300"]);
console.log(JSON.stringify({ id: lab.id, pid: running.pid }));
if (process.argv[2] === "throw") {
  setImmediate(() => {
    throw new Error("an uncaught error, as the test wants it");
  });
}
