/** The suite writes the addresses of its own service here. No service listens on `down`. */
export const ADDRESSES = {
  grpc: "localhost:8081",
  http: "http://localhost:8080",
  down: "http://localhost:9",
};
