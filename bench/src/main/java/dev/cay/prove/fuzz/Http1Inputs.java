package dev.cay.prove.fuzz;

/// Inputs that are one request of HTTP/1.1 each.
interface Http1Inputs extends RequestTarget.Inputs {
    Door door(Dice dice);

    byte[] request(Dice dice, Prey.Name name);

    /// In this order, as a seed must give the same input again.
    @Override
    default Input next(Dice dice, Prey.Name name) {
        var door = door(dice);
        return Input.of(dice, door, request(dice, name), Input.Speech.HTTP1);
    }
}
