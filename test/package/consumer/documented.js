// Runs the programs of documented.json one after the other, each in a folder of its own, and prints what went wrong.
import { mkdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { format } from "node:util";

const home = process.cwd();
const print = console.log;
let output = "";
let onOutput = () => {};
for (const method of ["log", "info", "warn", "error", "debug"]) {
  console[method] = (...values) => told(`${format(...values)}\n`);
}
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream);
  // What this program prints by itself goes on to the stream.
  stream.write = (chunk, ...others) => {
    told(String(chunk));
    return write(chunk, ...others);
  };
}

const programs = JSON.parse(readFileSync("documented.json", "utf8"));
let right = 0;
for (const [index, program] of programs.entries()) {
  const folder = `${home}/run-${process.pid}-${index}`;
  mkdirSync(folder, { recursive: true });
  process.chdir(folder);
  print(program.name);
  output = "";
  const problem = await runProgram(program);
  if (problem === null) right++;
  else print(`${problem}\n${output}`);
}
process.chdir(home);
print(`${right} of ${programs.length} did what they say`);
process.exit(0);

function told(text) {
  output += text;
  onOutput();
}

/** What was wrong, or null. A program that runs until it is stopped gets Ctrl-C once it has printed everything. */
async function runProgram({ file, expected, isEndless }) {
  const missing = () => expected.filter((text) => !output.includes(text));
  const complete = new Promise((resolve) => {
    onOutput = () => {
      if (missing().length === 0) resolve();
    };
    onOutput();
  });
  const ended = import(pathToFileURL(`${home}/${file}`).href);
  ended.catch(() => {});
  try {
    if (expected.length === 0) await ended;
    // What printed everything may go on beside the next one.
    await Promise.race([complete, ended.then(() => complete)]);
    if (!isEndless) return null;
    process.kill(process.pid, "SIGINT");
    await ended;
    return null;
  } catch (error) {
    return format(error);
  }
}
