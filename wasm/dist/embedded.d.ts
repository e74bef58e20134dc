/** The cron engine, compiled. */
declare const module: WebAssembly.Module;
export default module;
